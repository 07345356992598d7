/** Bounds of the tree of keys that keys make; both domains hold the first. */

/** Keys below the one that a person made: what each of them signs is judged as many times more. */
export const SUB_KEY_DEPTH_MAX = 4
/** Live keys that one key made: a program's helpers, and no more. */
export const SUB_KEYS_MAX = 50
