"""Impacts: jumps of velocity under several impact laws."""
