/**
 * Which way imports run. `domain` is the ground, `errors` stand on it, the wire schemas and the
 * store on both; ports and adapters never know HTTP or MCP; only entry points wire adapters.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */

/** A port and its adapters each. */
const ADAPTERS =
  '^src/(auth|screening|pricing|chains|custody|custody-tools|service-custody|quorum-protocol|webhooks|defi)/'

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
      name: 'viem-by-its-utilities',
      comment:
        'Each thread loads what it imports before it is ready: viem whole takes twice as long as viem/utils, which has all that the service needs.',
      severity: 'error',
      from: { path: '^(src|actors)/', pathNot: '^src/(cli|custody-tools)/' },
      to: { path: 'node_modules/viem/_[a-z]+/index\\.', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-dev-package-at-run-time',
      comment:
        'Production installs leave development dependencies out. The solver is asked for where it is, and a command says how to get it where it is not; the console is shipped as a bundle that has its packages in it.',
      severity: 'error',
      from: {
        path: '^(src|actors)/',
        pathNot: ['^src/cli/policy-diff/solver\\.ts$', '^src/console/'],
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'core-knows-no-world',
      comment:
        'What a core file runs, `.dependency-cruiser.core.cjs` guards. As types it knows domain, errors, core files, what an actor is, and the values that nodes and valuation hand in; never the store or the wire.',
      severity: 'error',
      from: { path: '^actors/[^/]+/core/' },
      to: {
        path: '^(src|actors)/',
        pathNot: [
          '^src/(domain|errors|policy)/',
          '^actors/[^/]+/core/',
          '^actors/runtime/actor\\.ts$',
          '^src/(chains|valuation)/',
        ],
      },
    },
    {
      name: 'accounts-know-no-owner',
      comment: 'What an account asks its owner is in account/core/turn.ts.',
      severity: 'error',
      from: { path: '^actors/account/' },
      to: { path: '^actors/', pathNot: '^actors/(account|runtime)/' },
    },
    {
      name: 'gas-wallets-are-no-sub-wallets',
      comment: "What both do is an account's; of sub-wallets they know what they tell them.",
      severity: 'error',
      from: { path: '^actors/gas-wallet/' },
      to: { path: '^actors/sub-wallet/', dependencyTypesNot: ['type-only'] },
    },
    only('domain', ['policy']),
    only('policy', ['domain']),
    only('errors', ['domain']),
    only('api', ['domain', 'errors', 'policy']),
    only('quorum-protocol', ['domain', 'contracts', 'policy']),
    only('custody', ['quorum-protocol', 'domain', 'disk', 'policy']),
    only('service-custody', ['clock', 'custody', 'quorum-protocol', 'domain', 'errors']),
    only('quorum-signer', ['custody', 'quorum-protocol']),
    only('link', ['config', 'disk', 'domain', 'quorum-protocol']),
    only('identity-provider', [
      'clock',
      'journal',
      'link',
      'custody',
      'contracts',
      'quorum-protocol',
      'domain',
      'auth',
      'config',
      'disk',
      'errors',
      'policy',
    ]),
    only('custody-tools', [
      'service-custody',
      'clock',
      'identity-provider',
      'custody',
      'quorum-protocol',
      'domain',
      'disk',
      'config',
      'policy',
    ]),
    {
      name: 'tools-are-the-operators',
      comment: 'What makes, mends and audits a domain is no part of a running one.',
      severity: 'error',
      from: { path: '^(src|actors)/', pathNot: '^src/(cli|custody-tools)/' },
      to: { path: '^src/custody-tools/' },
    },
    only('journal', ['clock']),
    only('store', ['clock', 'domain', 'errors', 'api', 'disk', 'policy', 'journal']),
    {
      name: 'adapters-imports',
      comment: 'A port and its adapters know domain, errors, config and the wire of contracts.',
      severity: 'error',
      from: { path: '^src/(auth|screening|pricing|chains|webhooks|defi)/' },
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
        pathNot: '^src/store/(reader|new-id)\\.ts$',
      },
    },
    {
      name: 'transports-imports',
      comment: 'http and mcp parse, call an operation and serialise; they know no other adapter.',
      severity: 'error',
      from: { path: '^src/(http|mcp)/' },
      to: {
        path: '^src/(store|screening|pricing|chains|custody|custody-tools|service-custody|quorum-protocol|webhooks|defi|pool)/|^actors/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'uws-has-one-seam',
      comment: 'Another build of the HTTP server must stay a change of one line.',
      severity: 'error',
      from: { path: '^(src|actors)/', pathNot: '^src/http/native-uws\\.ts$' },
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
      name: 'only-entries-import-the-wiring',
      comment:
        'What it builds is handed on as ports. `cluster import` does in place of a start what that would do.',
      severity: 'error',
      from: {
        path: '^(src|actors)/',
        pathNot: ['^src/(wiring|service)/', '^src/cli/operator/import-store\\.ts$', ENTRIES],
      },
      to: { path: '^src/(wiring|service)/' },
    },
    {
      name: 'shells-draw-no-ids',
      comment: 'Time and randomness come into actors through their Timers.',
      severity: 'error',
      from: { path: '^actors/' },
      to: { path: '^src/store/new-id\\.ts$' },
    },
    {
      name: 'console-knows-types-of-the-api-alone',
      comment:
        'It runs in browsers and does nothing but documented calls: what it takes from the service are the types of those, and the names of chains and of events from their tables.',
      severity: 'error',
      from: { path: '^src/console/' },
      to: {
        path: '^(src|actors)/',
        pathNot: '^src/(console|api)/|^src/domain/(chains|event-types)\\.ts$',
      },
    },
    {
      name: 'console-runs-nothing-of-the-service',
      comment: 'Types of the API, nothing that runs.',
      severity: 'error',
      from: { path: '^src/console/' },
      to: { path: '^src/api/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'service-runs-nothing-of-the-console',
      comment: 'It serves what the build made of it.',
      severity: 'error',
      from: { path: '^(src|actors)/', pathNot: '^src/console/' },
      to: { path: '^src/console/' },
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
