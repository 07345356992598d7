/** A walk with holes in its budget: one that never ends, one that eats the heap. */
export function warm() {
  return true
}

/** @param {Uint8Array} data */
export function check(data) {
  while (data.length > 0) Math.random()
  return null
}

export function report() {
  const kept = []
  for (;;) kept.push(new Array(10_000).fill(kept.length))
}
