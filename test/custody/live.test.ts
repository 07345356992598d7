import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChild } from '../../bench/child-process.js'
import { systemTimers } from '../../src/clock/timers.js'
import { connectCoSigner } from '../../src/service-custody/connect-co-signer.js'
import { lastServiceBoot } from '../../src/service-custody/service-boot-file.js'
import { describeLive, type LiveKeys, provisionLive } from './live-installation.js'

/** `test/pkcs11` has the same with keys in tokens. */
const NO_ENV: LiveKeys = { env: {}, options: () => [] }

describeLive('live, with keys in files', () => ({
  ...NO_ENV,
  env: { COUNTERSIGN_ALLOW_FILE_KEYS: '1' },
}))

describe('live, with keys in files that nobody allowed', () => {
  let home: string

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'cs-live-'))
    // Nothing gets as far as asking a node.
    await provisionLive(home, 'http://127.0.0.1:9', NO_ENV)
  })
  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))

  test('no domain starts', async () => {
    const env = { COUNTERSIGN_HOME: home, COUNTERSIGN_MODE: 'live', IDENTITY_PORT: '0' }
    for (const entry of ['quorum-signer', 'identity-provider']) {
      await expect(startChild(`dist/src/${entry}/main.js`, env)).rejects.toThrow(
        /COUNTERSIGN_ALLOW_FILE_KEYS=1/,
      )
    }
    await expect(
      connectCoSigner({
        home,
        mode: 'live',
        boot: lastServiceBoot(home, systemTimers()),
        timers: systemTimers(),
        log: pino({ level: 'silent' }),
      }),
    ).rejects.toThrow(/COUNTERSIGN_ALLOW_FILE_KEYS=1/)
  })
})
