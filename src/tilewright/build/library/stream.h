/* The rows that a context's state has, none at first: $states
   A run reads them and adds to them; TILEWRIGHT_FULL says that there is no room. Shapes of inputs
   may depend on how many there are: $name_reshape comes first, and before runs for which that, or
   how many rows are new, makes other shapes. */
int64_t $name_length(const $name_context *context);

/* Take back the last rows; all of them make an empty state. */
int $name_rewind($name_context *context, int64_t rows);

