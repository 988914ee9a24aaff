"""The solver race: what is minimized (`problems`), by whom (`entries`), in whose process (`worker`, `turns`), against
which optimum (`optima`, `certify`), and the table at the end (`table`)."""
