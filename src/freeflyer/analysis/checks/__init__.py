"""Checks of a robot: is its description sound, and do its dynamics obey the laws of mechanics?"""
