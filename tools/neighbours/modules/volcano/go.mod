// Pins the definitions of Volcano that Posse is tested with.
module neighbours/volcano

go 1.26.0

require volcano.sh/volcano v1.15.0
