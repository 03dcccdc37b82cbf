"""A structured filter as claims: what it carries beside a rewrite, and what of a model's own filter nobody said."""
