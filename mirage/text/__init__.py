"""Text in any language: languages, scripts, detection, segmentation, answer parsing, names of makers."""
