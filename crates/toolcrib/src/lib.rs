//! A library that gives a model the right tools and a loop that always ends inside a budget.
