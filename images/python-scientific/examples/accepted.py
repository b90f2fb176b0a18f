import networkx
import numpy
import pandas
import scipy.optimize
import sympy

a, b = map(int, input().split())
x = sympy.Symbol("x")
graph = networkx.Graph([(a, b)])
frame = pandas.DataFrame({"value": numpy.array([a, b])})
root = scipy.optimize.brentq(lambda value: value - a - b, 0, 100)
assert sympy.solve(x - a - b) == [a + b] and networkx.has_path(graph, a, b)
assert round(root) == a + b
print(frame["value"].sum())
