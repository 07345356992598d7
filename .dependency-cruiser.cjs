/**
 * Which way imports run. `domain` is the ground, `errors` stand on it, the wire schemas and the
 * store on both; ports and adapters never know HTTP or MCP; only entry points wire adapters.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */

/** Files that decide about money: no clock, no randomness, no I/O. */
const PURE = [
  '^src/domain/',
  '^actors/[^/]+/core/(state|decide|evolve|commands|events)[a-z-]*\\.ts$',
]

/** A port and its adapters each. */
const ADAPTERS = '^src/(auth|screening|pricing|chains|custody|webhooks|defi)/'

/** Composition roots, and the first file of a thread or process. */
const ENTRIES =
  '(^|/)main\\.ts$|^actors/.*/?worker[^/]*\\.ts$|^src/.*/?worker[^/]*\\.ts$|^src/pool/|^src/quorum-signer/|^src/identity-provider/'

const only = (folder, allowed) => ({
  name: `${folder}-imports`,
  comment: `src/${folder} may import ${allowed.join(', ')} and packages`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^(src|actors)/', pathNot: `^src/(${[folder, ...allowed].join('|')})/` },
})

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'A cycle means that two files have one subject, or that a port is missing.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'Nothing imports it and it starts nothing.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: ['\\.d\\.ts$', '^scripts/', '^bench/', '^test/', '^src/contracts/', ENTRIES],
      },
      to: {},
    },
    {
      name: 'no-unresolvable',
      comment: 'The import leads nowhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-undeclared-package',
      comment: 'The package is not in package.json; it is here by luck.',
      severity: 'error',
      from: { path: '^(src|actors)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-dev-package-at-run-time',
      comment: 'Production installs leave development dependencies out.',
      severity: 'error',
      from: { path: '^(src|actors)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'pure-files-have-no-world',
      comment:
        'Pure files touch no clock, no randomness, no node:*, no packages; a hash is as pure as they are.',
      severity: 'error',
      from: { path: PURE },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: '^node_modules/hash-wasm/',
      },
    },
    {
      name: 'pure-actor-files',
      comment:
        'What actors decide depends on domain, errors, the files beside it, and the pure lanes of sub-wallets, which gas wallets share.',
      severity: 'error',
      from: { path: '^actors/([^/]+)/core/(state|decide|evolve)\\.ts$' },
      to: {
        path: '^(src|actors)/',
        pathNot: [
          '^src/(domain|errors)/',
          '^actors/$1/',
          '^actors/runtime/(actor|protocol)\\.ts$',
          '^actors/sub-wallet/core/(state|turn|decide|decide-lane|evolve)\\.ts$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    only('domain', []),
    only('errors', ['domain']),
    only('api', ['domain', 'errors']),
    only('store', ['domain', 'errors', 'api', 'disk']),
    {
      name: 'adapters-imports',
      comment: 'A port and its adapters know domain, errors, config and the wire of contracts.',
      severity: 'error',
      from: { path: '^src/(auth|screening|pricing|chains|custody|webhooks|defi)/' },
      to: {
        path: '^(src|actors)/',
        pathNot: ['^src/(domain|errors|config|contracts|disk)/', '^src/$1/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'operations-imports',
      comment:
        'Operations see ports as types, and of the store the reader alone: only actors write. main.ts hands them the adapters.',
      severity: 'error',
      from: { path: '^src/operations/' },
      to: {
        path: '^src/(http|mcp|console|store|identity-provider|quorum-signer)/',
        pathNot: '^src/store/(reader|records|new-id)\\.ts$',
      },
    },
    {
      name: 'transports-imports',
      comment: 'http and mcp parse, call an operation and serialise; they know no other adapter.',
      severity: 'error',
      from: { path: '^src/(http|mcp)/' },
      to: {
        path: '^src/(store|screening|pricing|chains|custody|webhooks|defi|pool)/|^actors/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'uws-has-one-seam',
      comment: 'Another build of the HTTP server must stay a change of one line.',
      severity: 'error',
      from: { path: '^(src|actors)/', pathNot: '^src/http/uws\\.ts$' },
      to: { path: 'uWebSockets|uws-js-unofficial' },
    },
    {
      name: 'only-entries-wire-adapters',
      comment: 'Adapters are built in main.ts and worker entries, and passed in everywhere else.',
      severity: 'error',
      from: { path: '^actors/', pathNot: ENTRIES },
      to: {
        path: ADAPTERS,
        // Pure functions over a port's own types.
        pathNot: '^src/(webhooks/delivery-body|screening/verdict-fault|chains/(fees|hex))\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'trust-domains-share-no-code-but-the-ground',
      comment:
        'The quorum signer and the identity provider must not pull in what the service alone does.',
      severity: 'error',
      from: { path: '^src/(quorum-signer|identity-provider)/' },
      to: {
        path: '^src/(api|http|mcp|operations|store|screening|pricing|webhooks|defi)/|^actors/',
      },
    },
    {
      name: 'production-code-imports-no-tests',
      severity: 'error',
      from: { path: '^(src|actors)/' },
      to: { path: '^(test|bench|scripts)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|src/contracts/generated)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
