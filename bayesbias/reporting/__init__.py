"""The answer of a fit, methods paragraphs, and material for papers. (Nothing is imported here.)"""
