read -r order
case $order in
    echo) cat ;;
    fail) exit 3 ;;
    loop) while :; do :; done ;;
    flood) while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done ;;
    hoard) held=x; while :; do held+=$held; done ;;
esac
