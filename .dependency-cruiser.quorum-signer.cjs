/**
 * The quorum signer holds both shares of a key for the time of a signature. What its process loads
 * is its protocol, the curve, the lock on its home and keys in files; another store of keys, a
 * client of a KMS or a PKCS#11 module, is loaded where a file of the operator's names it, and not
 * before (`open-key-store.ts`). There is no HTTP, no store, no schema library within its reach.
 *
 * The rule follows imports as they are at run time, however many files lie between, except those
 * that are asked for at run time.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */

const OWN = [
  '^src/quorum-signer/',
  '^src/quorum-protocol/',
  '^src/contracts/router-intent-type\\.ts$',
  '^src/domain/(gas-limits|keccak)\\.ts$',
  '^src/disk/(native-locks|put-file|watch-path)\\.ts$',
  '^src/custody/process-(environment|life)\\.ts$',
  '^src/custody/home-lock/',
  '^src/custody/domain-keys/(layout|private-file|registry-file|follow-registry)\\.ts$',
  '^src/custody/key-stores/(open-key-store|key-store|file-key-store|choose-signer)\\.ts$',
]

/** The curve, its hash, the frames on the socket, and the kernel's locks. */
const PACKAGES = '^node_modules/(@noble/(curves|hashes)|fs-native-extensions|hash-wasm|msgpackr)/'

/** Its socket is a Unix one: `node:net` alone. */
const PLATFORM = '^(node:)?(crypto|fs|module|net|os|path)$'

module.exports = {
  forbidden: [
    {
      name: 'quorum-signer-reaches-its-protocol-alone',
      comment: 'It joins the shares of a key: whatever runs in its process could take them.',
      severity: 'error',
      from: { path: '^src/quorum-signer/' },
      to: { path: '.', pathNot: [...OWN, PACKAGES, PLATFORM], reachable: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { dynamic: true },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
