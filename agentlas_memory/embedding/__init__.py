"""Text to vector: the hook's own reader, model2vec for batches, and the model asset."""
