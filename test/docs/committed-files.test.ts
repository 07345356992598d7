import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { subjectFault } from '../../scripts/committed/commit-subjects.js'
import { conflictMarkerLines } from '../../scripts/committed/conflict-markers.js'
import { packagesWithoutIntegrity } from '../../scripts/committed/lock-integrity.js'
import { DOCUMENTS } from './documents.js'

describe('package-lock.json', () => {
  it('has an integrity for every package that is downloaded', () => {
    expect(packagesWithoutIntegrity(readFileSync('package-lock.json', 'utf8'))).toEqual([])
  })

  it('is refused where one package, optional or not, has none', () => {
    const lock = {
      packages: {
        '': { name: 'countersign' },
        'node_modules/a': { version: '1.0.0', integrity: 'sha512-x' },
        'node_modules/b': { version: '1.0.0', optional: true },
        'node_modules/c': { version: '1.0.0', integrity: '' },
        'node_modules/d': { resolved: 'packages/d', link: true },
        'node_modules/a/node_modules/e': { version: '1.0.0', inBundle: true },
      },
    }
    expect(packagesWithoutIntegrity(JSON.stringify(lock))).toEqual([
      'node_modules/b',
      'node_modules/c',
    ])
  })

  it('names no host that packages come from', () => {
    expect(readFileSync('package-lock.json', 'utf8')).not.toMatch(/"resolved": "https?:/)
  })
})

describe('conflict markers', () => {
  it.each([
    '<<<<<<< HEAD',
    '=======',
    '>>>>>>> f3882fc5',
    '||||||| merged common ancestors',
    '| <<<<<<< HEAD                                |',
    '| =======                                     |',
    '> > > > > > > f3882fc5b4abf02d613aba6217dbbc01fb6aa506',
    '> > > > > > > | `routes.ts`  | the tables |',
    '  <<<<<<< HEAD\r',
  ])('are seen in %j', (line) => {
    expect(conflictMarkerLines(`before\n${line}\nafter`)).toEqual([2])
  })

  it.each([
    '> quoted',
    '> > quoted twice',
    '| a | b |',
    '| --- | --- |',
    'a <<<<<<< b',
    '========',
    '|||',
  ])('are not seen in %j', (line) => {
    expect(conflictMarkerLines(line)).toEqual([])
  })

  it('stand in no document', () => {
    const found = DOCUMENTS.flatMap((path) =>
      conflictMarkerLines(readFileSync(path, 'utf8')).map((line) => `${path}:${line}`),
    )
    expect(found).toEqual([])
  })
})

describe('the subject of a commit', () => {
  it.each([
    'chains: keep a refused send in doubt while bytes may be out',
    'wallet, lists: hold two guarantees',
    'src/chains: ask elsewhere',
    'Merge branch main',
  ])('%j is taken', (subject) => {
    expect(subjectFault(subject)).toBeNull()
  })

  it.each([
    ['Let no lifting thaw what was frozen again', /form/],
    ['chains:', /form/],
    ['Chains: keep a refused send', /form/],
    [`chains: ${'x'.repeat(65)}`, /longer than 72/],
  ])('%j is refused', (subject, fault) => {
    expect(subjectFault(subject)).toMatch(fault)
  })
})
