import { execFile } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { SUITES } from '../../scripts/suites.mjs'

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function testLong(...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/test-long.mjs', ...args], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
}

describe('npm run test:long', () => {
  test.each(['--help', '--list'])('%s lists every suite with what it needs', async (flag) => {
    const { code, stdout } = await testLong(flag)
    expect(code).toBe(0)
    for (const { name, does } of SUITES) {
      expect(stdout).toMatch(new RegExp(`^${name} +[a-z]`, 'm'))
      expect(stdout).toContain(does)
    }
    expect(stdout).toMatch(/^pkcs11 +minutes +softhsm2 /m)
  })

  test('--json prints the rows', async () => {
    const { code, stdout } = await testLong('--json')
    expect({ code, rows: JSON.parse(stdout) }).toEqual({ code: 0, rows: SUITES })
  })

  test('--help after a name shows its commands', async () => {
    const { code, stdout } = await testLong('journal', '--help')
    expect(code).toBe(0)
    expect(stdout).toContain('JOURNAL=1 JOURNAL_RACES=3000 node scripts/run.mjs')
    expect(stdout).toContain('JOURNAL=1 node scripts/run.mjs')
  })

  test.each([
    [['custdoy'], 'there is no suite custdoy; did you mean custody?'],
    [['screening:fuzz'], 'there is no suite screening:fuzz; did you mean screening-fuzz?'],
    [['cluster'], 'did you mean cluster-faults or cluster-takeovers?'],
    [['xyzzy'], 'there is no suite xyzzy\n'],
    [['core', '--short'], 'core has no short form'],
    [['--short', 'journal'], 'the name of a suite comes before --short'],
    [[], 'name a suite'],
  ])('%j is refused', async (args, problem) => {
    const { code, stdout, stderr } = await testLong(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(problem)
  })
})
