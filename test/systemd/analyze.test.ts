import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  ['countersign-journal-handler.service', 0.9],
  ['countersign-restate.service', 0.9],
] as const

/** In folders beside the units, as they are installed. */
const DROP_INS = [
  ['countersign-service', 'cluster'],
  ['countersign-identity-provider', 'link'],
  ['countersign-restate', 'nodes'],
] as const

const UNITS_WRITTEN = [
  'countersign-identity-provider.service',
  'countersign-journal-handler.service',
  'countersign-lists.service',
  'countersign-lists.timer',
  'countersign-quorum-signer.service',
  'countersign-restate.service',
  'countersign-service.service',
]

/** Verification wants the program to be there. */
const withProgram = (text: string) =>
  text.replace(/\/usr\/bin\/node|\/usr\/local\/bin\/restate-server/, process.execPath)

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-units-'))
  for (const [unit] of EXPOSURE_MAX) {
    const text = readFileSync(join(DIRECTORY, unit), 'utf8')
    writeFileSync(join(directory, unit), withProgram(text))
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
      writeFileSync(at, withProgram(text))
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

  test.each(DROP_INS)('finds nothing wrong with %s and its drop-in %s', (unit, name) => {
    const folder = join(directory, `${unit}.service.d`)
    mkdirSync(folder)
    const text = readFileSync(join(DIRECTORY, `${unit}.${name}.conf`), 'utf8')
    const verify = (dropIn: string) => {
      writeFileSync(join(folder, `${name}.conf`), dropIn)
      const path = join(directory, `${unit}.service`)
      return spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' }).stderr
    }
    expect(verify(`${text}Environmnt=A=b\n`)).toContain('Environmnt')
    expect(
      verify(text)
        .split('\n')
        .filter((line) => line.includes(directory)),
    ).toEqual([])
    expect(text).toContain(`/etc/systemd/system/${unit}.service.d/${name}.conf`)
    rmSync(folder, { recursive: true })
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
