import { expect, test } from 'vitest'
import type { StoreKey, StoreRange } from '../../src/store/checked-space.js'
import { packedRecord } from '../../src/store/encodings/sealing.js'
import type { Environment } from '../../src/store/environment.js'
import { openRealStore } from '../actors/real-store.js'
import { Disk } from './disk.js'
import { drawOf } from './random.js'
import { Scheduler } from './scheduler.js'

const ROUNDS = 40

test('the disk of the simulator has what LMDB would have, in its order', async () => {
  const draw = drawOf(1, 'keys')
  const scheduler = new Scheduler(0)
  const simulated = new Disk(scheduler, drawOf(1, 'disk')).environmentOf({ isAlive: true })
  const real = await openRealStore()
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const rows = Array.from({ length: 5 }, () => [keyFrom(2), draw.integer(1_000)] as const)
      const write = ({ spaces }: Environment) => {
        for (const [key, value] of rows) {
          if (value < 300) void spaces.settlements.remove(key)
          else void spaces.settlements.put(key, packedRecord({ value, amount: BigInt(value) }))
        }
      }
      const written = simulated.root.batch(() => write(simulated))
      await scheduler.run(() => scheduler.nextMs === null)
      await written
      await real.environment.root.batch(() => write(real.environment))
      real.reader.fresh()
      for (let look = 0; look < 10; look++) {
        const range = rangeFrom()
        const read = ({ spaces }: Environment) => [...spaces.settlements.getRange(range)]
        expect(read(simulated), JSON.stringify(range)).toEqual(read(real.environment))
        const key = keyFrom(2)
        const get = ({ spaces }: Environment) => spaces.settlements.get(key)
        expect(get(simulated)).toEqual(get(real.environment))
      }
    }
  } finally {
    await real.close()
  }

  /** A tuple of one part comes back from LMDB as the part; no space has such keys. */
  function keyFrom(partsMin: number): StoreKey {
    const parts = [draw.pick([1, 10, 137]), draw.integer(4), draw.pick(['a', 'ab', 'b', 9])]
    return parts.slice(0, draw.between(partsMin, 3))
  }

  function rangeFrom(): StoreRange {
    const a = keyFrom(1)
    const b = draw.chance(0.5) ? [draw.pick([1, 10, 137]), '~'] : keyFrom(1)
    return {
      ...(draw.chance(0.8) ? { start: a } : {}),
      ...(draw.chance(0.8) ? { end: b } : {}),
      reverse: draw.chance(0.4),
      exclusiveStart: draw.chance(0.3),
      ...(draw.chance(0.3) ? { limit: 3 } : {}),
    }
  }
})
