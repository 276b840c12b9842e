"""Display: tables, figures, proofs, templates."""
