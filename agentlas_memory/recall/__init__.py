"""Ranking: lexical, dense and entity lists, absolute gates, fusion, explanation."""
