let () =
  match input_line stdin with
  | "echo" -> (
      let block = Bytes.create 65536 in
      let rec copy () =
        let count = input stdin block 0 65536 in
        if count > 0 then (output stdout block 0 count; copy ())
      in
      copy ())
  | "fail" -> failwith "as asked"
  | "loop" -> while true do () done
  | "flood" -> while true do print_endline (String.make 1000 'x') done
  | "hoard" ->
      let held = ref [] in
      while true do held := Bytes.make 1048576 'x' :: !held done
  | _ -> ()
