read -r a b
if [ "$a" ]; then
    echo $((a + b))
