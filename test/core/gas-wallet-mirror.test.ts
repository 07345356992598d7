import { describe, test } from 'vitest'
import { driveMany } from './drive-many.js'
import { GasWalletDrive } from './gas-wallet-drive.js'

describe('a gas wallet, in whatever order things happen', () => {
  test('holds what a restart would load, and denies nothing that it reported', async () => {
    await driveMany((seed) => GasWalletDrive.create(seed))
  })
})
