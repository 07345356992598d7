import { describe, test } from 'vitest'
import { driveMany } from './drive-many.js'
import { WalletDrive } from './wallet-drive.js'

/** Some dozens of sends fill it. */
const CAP_MICROS = 2_000n

describe('a sub-wallet with sends and sponsored calls, in whatever order things happen', () => {
  test('holds what a restart would load, and what counts is what is held', async () => {
    await driveMany((seed) => WalletDrive.create(seed, CAP_MICROS))
  })
})
