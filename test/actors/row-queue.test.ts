import { expect, test } from 'vitest'
import { queueOfRows } from '../../src/store/row-queue.js'
import { type Row, removalOf } from '../../src/store/rows.js'

const row = (name: string): Row => removalOf('apiKeys', name)
const namesOf = (rows: readonly Row[]) => rows.map(([, key]) => key)

/** A disk that takes or refuses when it is told to. */
function slowDisk() {
  const written: unknown[][] = []
  const ends: { taken(): void; refused(): void }[] = []
  const queue = queueOfRows((rows) => {
    written.push(namesOf(rows))
    return new Promise((resolve, reject) => {
      ends.push({ taken: resolve, refused: () => reject(new Error('the disk is full')) })
    })
  })
  return { queue, written, ends }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('what comes while the disk writes is one transaction behind it', async () => {
  const { queue, written, ends } = slowDisk()
  const first = queue([row('a')])
  const others = [queue([row('b'), row('c')]), queue([row('d')])]
  await settled()
  expect(written).toEqual([['a']])
  ends[0]?.taken()
  await first
  await settled()
  expect(written).toEqual([['a'], ['b', 'c', 'd']])
  const last = queue([row('e')])
  ends[1]?.taken()
  await Promise.all(others)
  await settled()
  ends[2]?.taken()
  await last
  // Nothing waits: the next begins at once.
  void queue([row('f')])
  expect(written).toEqual([['a'], ['b', 'c', 'd'], ['e'], ['f']])
})

test('nothing is written upon what the disk refused', async () => {
  const { queue, written, ends } = slowDisk()
  const first = queue([row('a')])
  const second = queue([row('b')])
  const refused = Promise.allSettled([first, second])
  ends[0]?.refused()
  for (const { status } of await refused) expect(status).toBe('rejected')
  await expect(queue([row('c')])).rejects.toThrow('the disk is full')
  expect(written).toEqual([['a']])
})

test('nothing is kept of what comes after the disk refused', async () => {
  const { queue, ends } = slowDisk()
  const first = queue([row('a')])
  const second = queue([row('b')])
  ends[0]?.refused()
  await Promise.allSettled([first, second])
  const late = [row('c')]
  late[Symbol.iterator] = () => {
    throw new Error('it is copied')
  }
  await expect(queue(late)).rejects.toThrow('the disk is full')
})
