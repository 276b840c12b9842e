"""How anything is shown: tables, pictures, proofs, templates."""
