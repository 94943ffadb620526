"""The surrogate judge: ratings predicted from features of answers, with measures of how far to trust them.

`data.py` defines the data a fit may use, `regressors.py` declares the regressors, `evaluate.py` leaves out one system
at a time and two at a time, `quality.py` measures the predictions, `importance.py` the importance of features,
`range.py` whether a system is in the range of the others.
"""
