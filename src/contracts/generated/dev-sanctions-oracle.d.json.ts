// Generated from DevSanctionsOracle.sol by scripts/contracts/compile.ts; do not edit.
declare const artifact: {
  abi: [
    {"inputs":[{"name":"owner_","type":"address"}],"stateMutability":"nonpayable","type":"constructor"},
    {"inputs":[{"name":"owner","type":"address"}],"name":"OwnableInvalidOwner","type":"error"},
    {"inputs":[{"name":"account","type":"address"}],"name":"OwnableUnauthorizedAccount","type":"error"},
    {"anonymous":false,"inputs":[{"indexed":true,"name":"previousOwner","type":"address"},{"indexed":true,"name":"newOwner","type":"address"}],"name":"OwnershipTransferred","type":"event"},
    {"anonymous":false,"inputs":[{"indexed":false,"name":"addrs","type":"address[]"}],"name":"SanctionedAddressesAdded","type":"event"},
    {"anonymous":false,"inputs":[{"indexed":false,"name":"addrs","type":"address[]"}],"name":"SanctionedAddressesRemoved","type":"event"},
    {"inputs":[{"name":"added","type":"address[]"}],"name":"addToSanctionsList","outputs":[],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[{"name":"account","type":"address"}],"name":"isSanctioned","outputs":[{"name":"","type":"bool"}],"stateMutability":"view","type":"function"},
    {"inputs":[],"name":"name","outputs":[{"name":"","type":"string"}],"stateMutability":"pure","type":"function"},
    {"inputs":[],"name":"owner","outputs":[{"name":"","type":"address"}],"stateMutability":"view","type":"function"},
    {"inputs":[{"name":"removed","type":"address[]"}],"name":"removeFromSanctionsList","outputs":[],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[],"name":"renounceOwnership","outputs":[],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[{"name":"newOwner","type":"address"}],"name":"transferOwnership","outputs":[],"stateMutability":"nonpayable","type":"function"},
  ]
  /** Creation code, without constructor arguments. */
  bytecode: `0x${string}`
}
export = artifact
