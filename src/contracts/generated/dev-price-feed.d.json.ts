// Generated from DevPriceFeed.sol by scripts/contracts/compile.ts; do not edit.
declare const artifact: {
  abi: [
    {"inputs":[{"name":"description_","type":"string"},{"name":"answer_","type":"int256"},{"name":"owner_","type":"address"}],"stateMutability":"nonpayable","type":"constructor"},
    {"inputs":[],"name":"NoDataPresent","type":"error"},
    {"inputs":[{"name":"owner","type":"address"}],"name":"OwnableInvalidOwner","type":"error"},
    {"inputs":[{"name":"account","type":"address"}],"name":"OwnableUnauthorizedAccount","type":"error"},
    {"anonymous":false,"inputs":[{"indexed":true,"name":"current","type":"int256"},{"indexed":true,"name":"roundId","type":"uint256"},{"indexed":false,"name":"updatedAt","type":"uint256"}],"name":"AnswerUpdated","type":"event"},
    {"anonymous":false,"inputs":[{"indexed":true,"name":"previousOwner","type":"address"},{"indexed":true,"name":"newOwner","type":"address"}],"name":"OwnershipTransferred","type":"event"},
    {"inputs":[],"name":"decimals","outputs":[{"name":"","type":"uint8"}],"stateMutability":"view","type":"function"},
    {"inputs":[],"name":"description","outputs":[{"name":"","type":"string"}],"stateMutability":"view","type":"function"},
    {"inputs":[{"name":"timestamp","type":"uint256"}],"name":"freezeAt","outputs":[],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[],"name":"frozenAt","outputs":[{"name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
    {"inputs":[{"name":"roundId_","type":"uint80"}],"name":"getRoundData","outputs":[{"name":"","type":"uint80"},{"name":"","type":"int256"},{"name":"","type":"uint256"},{"name":"","type":"uint256"},{"name":"","type":"uint80"}],"stateMutability":"view","type":"function"},
    {"inputs":[],"name":"latestRoundData","outputs":[{"name":"roundId","type":"uint80"},{"name":"answer","type":"int256"},{"name":"startedAt","type":"uint256"},{"name":"updatedAt","type":"uint256"},{"name":"answeredInRound","type":"uint80"}],"stateMutability":"view","type":"function"},
    {"inputs":[],"name":"owner","outputs":[{"name":"","type":"address"}],"stateMutability":"view","type":"function"},
    {"inputs":[],"name":"renounceOwnership","outputs":[],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[{"name":"answer_","type":"int256"}],"name":"setAnswer","outputs":[],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[{"name":"newOwner","type":"address"}],"name":"transferOwnership","outputs":[],"stateMutability":"nonpayable","type":"function"},
    {"inputs":[],"name":"version","outputs":[{"name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
  ]
  /** Creation code, without constructor arguments. */
  bytecode: `0x${string}`
}
export = artifact
