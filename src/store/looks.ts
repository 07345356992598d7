/**
 * How many records the lists of this thread have looked at, found or not. What they cost is that, and
 * not what is shown: whoever asks for what there is none of has thousands read. Who serves many users
 * has each of them pay for their own.
 */
let looks = 0

export function noteLook(): void {
  looks++
}

/** Since the thread began. */
export function looksSoFar(): number {
  return looks
}
