import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serviceLayout, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { describeLive } from '../custody/live-installation.js'
import { createTokenDirectory } from '../support/softhsm.js'

describeLive(
  'live, with keys in PKCS#11 tokens',
  (home) => {
    const tokens = createTokenDirectory(join(home, 'hsm'))
    return {
      env: { SOFTHSM2_CONF: tokens.conf },
      options(domain) {
        const { module, token, pin_file } = tokens.token(`countersign-${domain}`)
        return ['--pkcs11-module', module, '--token', token, '--pin-file', pin_file]
      },
    }
  },
  (home) => {
    test('no private key and no open wrapping key is on any domain’s disk', () => {
      for (const layout of [serviceLayout(home()), userSideLayout(home())]) {
        expect(readdirSync(layout.keys).sort()).toEqual([
          'root.pub.pem',
          'store.json',
          'wrapping.key',
        ])
        expect(readFileSync(layout.wrappingKey).length).toBe(125)
      }
    })
  },
)
