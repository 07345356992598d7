/**
 * Calls `work` `times` times, with a bounded number of calls at once: a port accepts few
 * connections from one address, and that bound is not what is tested here.
 */
export async function atOnce<T>(
  times: number,
  atOnceMax: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  let next = 0
  async function worker(): Promise<void> {
    for (let index = next++; index < times; index = next++) results[index] = await work(index)
  }
  await Promise.all(Array.from({ length: Math.min(times, atOnceMax) }, worker))
  return results
}
