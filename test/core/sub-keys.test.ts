import { describe, test } from 'vitest'
import { driveMany, SEEDS } from './drive-many.js'
import { TreeDrive } from './tree-drive.js'

const CAP_MICROS = 1_000n
/** Of the seeds of the other models: each step asks after every key. */
const SHARE = 8

describe('keys that keys make, in whatever order things happen and wherever the process dies', () => {
  test('none is ever above its caps, and what counts on each is what those below it hold', async () => {
    await driveMany((seed) => TreeDrive.create(seed, CAP_MICROS), Math.ceil(SEEDS / SHARE))
    // A million steps, as `npm run test:long -- subkeys` takes them, are half an hour of a busy machine.
  }, 7_200_000)
})
