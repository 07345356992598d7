/**
 * What an actor decides is deterministic: the same state and the same command give the same
 * events, effects and replies, on any machine and at any time. State is folded in place, so the
 * word is not `pure`; what counts is that clock, randomness, disk and network come in with the
 * command or as an argument.
 *
 * The rule follows imports as they are at run time, however many files lie between: a type does
 * nothing, so type imports are left out. `.dependency-cruiser.cjs` says which of those are allowed.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */

const CORE = ['^actors/[^/]+/core/', '^src/domain/', '^src/policy/']

/** Hashing is as deterministic as arithmetic; this package does nothing else. */
const HASHING = '^node_modules/hash-wasm/'

module.exports = {
  forbidden: [
    {
      name: 'core-is-deterministic',
      comment:
        'A core file reaches, over however many imports, only src/domain, src/errors and core files: no node:*, no package, no store, no wire. Hand in what it needs, with the command or as a port.',
      severity: 'error',
      from: { path: CORE },
      to: {
        path: '.',
        pathNot: [...CORE, '^src/errors/', HASHING],
        reachable: true,
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
