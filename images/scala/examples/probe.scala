object Probe {
  def main(args: Array[String]): Unit = {
    val in = new java.io.BufferedInputStream(System.in)
    val order = Iterator.continually(in.read()).takeWhile(c => c != '\n' && c != -1).map(_.toChar).mkString
    order match {
      case "echo" => in.transferTo(System.out)
      case "fail" => throw new IllegalStateException("as asked")
      case "loop" => while (true) {}
      case "flood" => while (true) println("x" * 1000)
      case "hoard" =>
        val held = scala.collection.mutable.Buffer[Array[Byte]]()
        while (true) held += new Array[Byte](1 << 20)
    }
    System.out.flush()
  }
}
