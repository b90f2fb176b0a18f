import numpy

print(numpy.prod([int(word) for word in input().split()]))
