"""Makes more rows with any model: what each is about is drawn first, and everything a model writes is checked."""
