"""The English resources: word lists, stems, the pipeline, and which language a text is in."""
