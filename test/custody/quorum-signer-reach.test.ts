import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * What runs in the process that joins the shares of a key; `.dependency-cruiser.quorum-signer.cjs`
 * says of which kinds, this how much. Whoever raises a bound says here what for. Its agreement on
 * session keys is a file by itself, in whose place simulated worlds put a cheaper one.
 */
const FILES_MAX = 55
/**
 * Some fifty of them read which approval an intent rests on: it is part of what is signed under. As
 * many put files, whole and through nobody's link: its shares are such files. Sixty watch a file, so
 * that a registry which ends a key is missed at no moment. What the kernel locks is a file by itself,
 * which stores lock by, too. Thirty hold gas limits against what the registry pins; ninety
 * compare the key that was joined with the wallet's; sixty are comments that became whole sentences.
 * Three files and some 280 lines are its methods as named fields, whose codecs refuse what is malformed
 * before its code runs.
 */
const LINES_MAX = 4_445

const ENTRY = 'src/quorum-signer/main.ts'

interface Cruise {
  readonly modules: readonly {
    readonly source: string
    readonly dependencies: readonly { readonly resolved: string }[]
  }[]
  readonly summary: { readonly violations: readonly unknown[] }
}

function cruise(): Cruise {
  const config = ['--config', '.dependency-cruiser.quorum-signer.cjs', '--output-type', 'json']
  const tool = 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs'
  const output = execFileSync(process.execPath, [tool, ENTRY, ...config], {
    maxBuffer: 64 * 2 ** 20,
  })
  return JSON.parse(output.toString()) as Cruise
}

/** @returns files and packages, the entry among them */
function reachOf({ modules }: Cruise): string[] {
  const next = new Map(modules.map(({ source, dependencies }) => [source, dependencies]))
  const found = new Set([ENTRY])
  for (const source of found) {
    for (const { resolved } of next.get(source) ?? []) found.add(resolved)
  }
  return [...found]
}

test('the quorum signer’s process loads few files, and no HTTP, PKCS#11, store or schemas', () => {
  const cruised = cruise()
  expect(cruised.summary.violations).toEqual([])
  const reach = reachOf(cruised)
  const others = /http|undici|zod|lmdb|pkcs11|kms/
  expect(reach.filter((source) => others.test(source))).toEqual([])
  const files = reach.filter((source) => source.startsWith('src/'))
  expect(files).toContain('src/quorum-protocol/curve.ts')
  const lines = files.reduce((sum, file) => sum + linesOf(file), 0)
  console.log(`the quorum signer loads ${files.length} files of ${lines} lines`)
  expect(files.length).toBeLessThanOrEqual(FILES_MAX)
  expect(lines).toBeLessThanOrEqual(LINES_MAX)
})

function linesOf(file: string): number {
  return readFileSync(file, 'utf8').split('\n').length - 1
}
