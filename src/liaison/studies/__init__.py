"""The room `studies`: many runs with values that vary: designs, measures, a store, searches."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "chunks": "Chunk encoded decoded",
        "cluster": "executor_of check_address",
        "files": "StudyFile read_study_file",
        "indices": "Indices indices_of saltelli_points",
        "measures": "Measure Samples read_measure read_measures",
        "search": "Goal Limit Problem Found descend front_of draw",
        "store": "Store",
        "study": "Study Definition",
        "surfaces": "Surface fitted_surface",
        "variations": "Variation Interval Normal Triangular Lognormal Listed Points points_of "
        "variation_of",
        "work": "Progress carry_out",
    },
)
