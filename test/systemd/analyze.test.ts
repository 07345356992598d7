import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installationFiles } from '../../src/cli/live/installation-files.js'
import { CHAIN_IDS } from '../../src/domain/chains.js'

/** What systemd says of the units; `scripts/systemd/README.md` has the same figures. */
const DIRECTORY = 'scripts/systemd'
const EXPOSURE_MAX = [
  ['countersign-service.service', 1.3],
  ['countersign-identity-provider.service', 1.3],
  ['countersign-quorum-signer.service', 0.5],
  ['countersign-lists.service', 1.3],
] as const

const UNITS_WRITTEN = [
  'countersign-identity-provider.service',
  'countersign-lists.service',
  'countersign-lists.timer',
  'countersign-quorum-signer.service',
  'countersign-service.service',
]

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-units-'))
  for (const [unit] of EXPOSURE_MAX) {
    // Verification wants the program to be there.
    const text = readFileSync(join(DIRECTORY, unit), 'utf8')
    writeFileSync(join(directory, unit), text.replace('/usr/bin/node', process.execPath))
  }
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('systemd itself', () => {
  test('finds nothing wrong with the units that live init writes', () => {
    const installed = mkdtempSync(join(tmpdir(), 'cs-installed-'))
    const files = installationFiles({
      chains: CHAIN_IDS,
      usdcFeeds: new Map(),
      serviceUrl: new URL('https://wallet.example.com'),
      identityUrl: new URL('https://id.example.com'),
      servicePort: '8080',
      identityPort: '3100',
      home: '/srv/countersign',
      fileKeys: false,
      packageRoot: process.cwd(),
      node: process.execPath,
    }).filter(({ path }) => /\.(service|timer)$/.test(path))
    const paths = files.map(({ path, text }) => {
      const at = join(installed, basename(path))
      writeFileSync(at, text)
      return at
    })
    expect(paths.map((path) => basename(path)).toSorted()).toEqual(UNITS_WRITTEN)
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...paths], {
      encoding: 'utf8',
    })
    rmSync(installed, { recursive: true })
    expect(stderr.split('\n').filter((line) => line.includes(installed))).toEqual([])
    expect(status).toBe(0)
  })

  test('finds nothing wrong with any unit', () => {
    const paths = EXPOSURE_MAX.map(([unit]) => join(directory, unit))
    const { status, stdout, stderr, error } = spawnSync('systemd-analyze', ['verify', ...paths], {
      encoding: 'utf8',
    })
    expect(error).toBeUndefined()
    const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(directory))
    expect(about).toEqual([])
    expect(status).toBe(0)
  })

  test.each(EXPOSURE_MAX)('gives %s an exposure of at most %d of 10', (unit, exposureMax) => {
    const output = execFileSync(
      'systemd-analyze',
      ['security', '--offline=yes', '--no-pager', join(directory, unit)],
      { encoding: 'utf8' },
    )
    const [, score] = /Overall exposure level for .*: (\d+\.\d)/.exec(output) ?? []
    expect(Number(score), output).toBeLessThanOrEqual(exposureMax)
  })
})
