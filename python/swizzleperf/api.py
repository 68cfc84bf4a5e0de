Tensor=optimize=run=simulate=write_spec=None
