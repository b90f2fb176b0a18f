(let ((a (read)) (b (read)))
  (format t "~a~%" (+ a b)))
