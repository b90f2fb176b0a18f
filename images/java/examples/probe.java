import java.io.*;
import java.util.*;

public class Probe {
    public static void main(String[] arguments) throws IOException {
        BufferedInputStream in = new BufferedInputStream(System.in);
        StringBuilder order = new StringBuilder();
        for (int c = in.read(); c != '\n' && c != -1; c = in.read()) order.append((char) c);
        switch (order.toString()) {
            case "echo" -> in.transferTo(System.out);
            case "fail" -> throw new IllegalStateException("as asked");
            case "loop" -> { while (true) { } }
            case "flood" -> { while (true) System.out.println("x".repeat(1000)); }
            case "hoard" -> { for (List<byte[]> held = new ArrayList<>();;) held.add(new byte[1 << 20]); }
        }
        System.out.flush();
    }
}
