// Generated from AgentDelegate.sol by scripts/contracts/compile.ts; do not edit.
declare const artifact: {
  abi: [
    {"inputs":[{"name":"router","type":"address"}],"stateMutability":"nonpayable","type":"constructor"},
    {"inputs":[],"name":"InvalidUserSignature","type":"error"},
    {"inputs":[],"name":"NativeTransferFailed","type":"error"},
    {"inputs":[{"name":"account","type":"address"}],"name":"NotThisAccount","type":"error"},
    {"inputs":[{"name":"caller","type":"address"}],"name":"OnlyRouter","type":"error"},
    {"inputs":[{"name":"token","type":"address"}],"name":"SafeERC20FailedOperation","type":"error"},
    {"inputs":[],"name":"ROUTER","outputs":[{"name":"","type":"address"}],"stateMutability":"view","type":"function"},
    {"inputs":[{"name":"hash","type":"bytes32"},{"name":"signature","type":"bytes"}],"name":"isValidSignature","outputs":[{"name":"","type":"bytes4"}],"stateMutability":"view","type":"function"},
    {"inputs":[{"name":"","type":"address"},{"name":"","type":"address"},{"name":"","type":"uint256[]"},{"name":"","type":"uint256[]"},{"name":"","type":"bytes"}],"name":"onERC1155BatchReceived","outputs":[{"name":"","type":"bytes4"}],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[{"name":"","type":"address"},{"name":"","type":"address"},{"name":"","type":"uint256"},{"name":"","type":"uint256"},{"name":"","type":"bytes"}],"name":"onERC1155Received","outputs":[{"name":"","type":"bytes4"}],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[{"name":"","type":"address"},{"name":"","type":"address"},{"name":"","type":"uint256"},{"name":"","type":"bytes"}],"name":"onERC721Received","outputs":[{"name":"","type":"bytes4"}],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[{"components":[{"name":"account","type":"address"},{"name":"tokenIn","type":"address"},{"name":"amountIn","type":"uint256"},{"name":"feeBps","type":"uint16"},{"name":"tokenOut","type":"address"},{"name":"minOut","type":"uint256"},{"name":"target","type":"address"},{"name":"nonce","type":"uint256"},{"name":"deadline","type":"uint48"},{"name":"dataHash","type":"bytes32"}],"name":"intent","type":"tuple"},{"components":[{"name":"r","type":"bytes32"},{"name":"vs","type":"bytes32"}],"name":"signature","type":"tuple"}],"name":"pull","outputs":[],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[{"name":"interfaceId","type":"bytes4"}],"name":"supportsInterface","outputs":[{"name":"","type":"bool"}],"stateMutability":"view","type":"function"},
    {"stateMutability":"payable","type":"receive"},
  ]
  /** Creation code, without constructor arguments. */
  bytecode: `0x${string}`
  /** The deployed code inside the creation code, in bytes; immutables are words inside it. */
  runtime: {"offset":160,"length":4100,"immutables":[340,884,1141,1347,1541]}
}
export = artifact
