"""The comparisons of Pneuma's section 7, on any sets: contestants, figures, and a page of them."""
