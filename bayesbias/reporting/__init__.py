"""Reports: one self-contained HTML file. (Nothing is imported here, so that sentences load without figures.)"""
