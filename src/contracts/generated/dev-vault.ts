// Generated from DevVault.sol by scripts/contracts/compile.ts; do not edit.
export const devVaultAbi = [
  {
    "inputs": [
      {
        "internalType": "contract IERC20",
        "name": "asset_",
        "type": "address"
      },
      {
        "internalType": "string",
        "name": "name_",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "symbol_",
        "type": "string"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "allowance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientAllowance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "balance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientBalance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "approver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidApprover",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidReceiver",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSender",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSpender",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "max",
        "type": "uint256"
      }
    ],
    "name": "ERC4626ExceededMaxDeposit",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "shares",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "max",
        "type": "uint256"
      }
    ],
    "name": "ERC4626ExceededMaxMint",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "shares",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "max",
        "type": "uint256"
      }
    ],
    "name": "ERC4626ExceededMaxRedeem",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "max",
        "type": "uint256"
      }
    ],
    "name": "ERC4626ExceededMaxWithdraw",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "NoDuration",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "token",
        "type": "address"
      }
    ],
    "name": "SafeERC20FailedOperation",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Approval",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "sender",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "shares",
        "type": "uint256"
      }
    ],
    "name": "Deposit",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "releaseEnd",
        "type": "uint256"
      }
    ],
    "name": "Funded",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Transfer",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "sender",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "shares",
        "type": "uint256"
      }
    ],
    "name": "Withdraw",
    "type": "event"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "allowance",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "approve",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "asset",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "balanceOf",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "shares",
        "type": "uint256"
      }
    ],
    "name": "convertToAssets",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      }
    ],
    "name": "convertToShares",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "decimals",
    "outputs": [
      {
        "internalType": "uint8",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      }
    ],
    "name": "deposit",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "duration",
        "type": "uint256"
      }
    ],
    "name": "fund",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "name": "maxDeposit",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "name": "maxMint",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "maxRedeem",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "maxWithdraw",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "shares",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      }
    ],
    "name": "mint",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "name",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      }
    ],
    "name": "previewDeposit",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "shares",
        "type": "uint256"
      }
    ],
    "name": "previewMint",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "shares",
        "type": "uint256"
      }
    ],
    "name": "previewRedeem",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      }
    ],
    "name": "previewWithdraw",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "shares",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "redeem",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "releaseAmount",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "releaseEnd",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "releaseStart",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "symbol",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "totalAssets",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "totalSupply",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "transfer",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "transferFrom",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "unreleased",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "assets",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "withdraw",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const

/** Creation code, without constructor arguments. */
export const devVaultBytecode =
  '0x60c060405234801561000f575f5ffd5b50604051611bc3380380611bc383398101604081905261002e9161015d565b828282600361003d838261026e565b50600461004a828261026e565b5050505f5f61005e8361008d60201b60201c565b915091508161006e576012610070565b805b60ff1660a05250506001600160a01b03166080525061032c915050565b63313ce56760e01b5f818152908190602082600481875afa5f51601f3d1190911661010082101695908602945092505050565b634e487b7160e01b5f52604160045260245ffd5b5f82601f8301126100e3575f5ffd5b81516001600160401b038111156100fc576100fc6100c0565b604051601f8201601f19908116603f011681016001600160401b038111828210171561012a5761012a6100c0565b604052818152838201602001851015610141575f5ffd5b8160208501602083015e5f918101602001919091529392505050565b5f5f5f6060848603121561016f575f5ffd5b83516001600160a01b0381168114610185575f5ffd5b60208501519093506001600160401b038111156101a0575f5ffd5b6101ac868287016100d4565b604086015190935090506001600160401b038111156101c9575f5ffd5b6101d5868287016100d4565b9150509250925092565b600181811c908216806101f357607f821691505b60208210810361021157634e487b7160e01b5f52602260045260245ffd5b50919050565b601f821115610269578282111561026957805f5260205f20601f840160051c602085101561024257505f5b90810190601f840160051c035f5b81811015610265575f83820155600101610250565b5050505b505050565b81516001600160401b03811115610287576102876100c0565b61029b8161029584546101df565b84610217565b6020601f8211600181146102cd575f83156102b65750848201515b5f19600385901b1c1916600184901b178455610325565b5f84815260208120601f198516915b828110156102fc57878501518255602094850194600190920191016102dc565b508482101561031957868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b60805160a05161185a6103695f395f61057001525f818161029d015281816106ed015281816108cc0152818161105601526111c9015261185a5ff3fe608060405234801561000f575f5ffd5b50600436106101d1575f3560e01c806394bf804d116100fe578063c062dc5f1161009e578063d905777e1161006e578063d905777e146103ff578063dd62ed3e14610412578063ef8b30f7146103d9578063f03d667214610457575f5ffd5b8063c062dc5f146103d0578063c63d75b6146102c7578063c6e6f592146103d9578063ce96cb77146103ec575f5ffd5b8063a9059cbb116100d9578063a9059cbb14610384578063b3d7f6b914610397578063b460af94146103aa578063ba087652146103bd575f5ffd5b806394bf804d1461035457806395d89b4114610367578063a65e2cfd1461036f575f5ffd5b8063313ce567116101745780636e553f65116101445780636e553f65146102fa57806370a082311461030d578063766e33f4146103425780638033fe491461034b575f5ffd5b8063313ce5671461026957806338d52e0f14610283578063402d267d146102c75780634cdad50614610205575f5ffd5b8063095ea7b3116101af578063095ea7b3146102185780630a28a4771461023b57806318160ddd1461024e57806323b872dd14610256575f5ffd5b806301e1d114146101d557806306fdde03146101f057806307a2d13a14610205575b5f5ffd5b6101dd61045f565b6040519081526020015b60405180910390f35b6101f861047f565b6040516101e791906113fa565b6101dd61021336600461144d565b61050f565b61022b61022636600461148c565b610520565b60405190151581526020016101e7565b6101dd61024936600461144d565b610537565b6002546101dd565b61022b6102643660046114b4565b610543565b610271610568565b60405160ff90911681526020016101e7565b60405173ffffffffffffffffffffffffffffffffffffffff7f00000000000000000000000000000000000000000000000000000000000000001681526020016101e7565b6101dd6102d53660046114ee565b507fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff90565b6101dd610308366004611507565b610594565b6101dd61031b3660046114ee565b73ffffffffffffffffffffffffffffffffffffffff165f9081526020819052604090205490565b6101dd60065481565b6101dd60075481565b6101dd610362366004611507565b6105e4565b6101f861061e565b61038261037d366004611531565b61062d565b005b61022b61039236600461148c565b610719565b6101dd6103a536600461144d565b610726565b6101dd6103b8366004611551565b610732565b6101dd6103cb366004611551565b6107c1565b6101dd60055481565b6101dd6103e736600461144d565b610847565b6101dd6103fa3660046114ee565b610852565b6101dd61040d3660046114ee565b61085b565b6101dd61042036600461158a565b73ffffffffffffffffffffffffffffffffffffffff9182165f90815260016020908152604080832093909416825291909152205490565b6101dd610885565b5f610468610885565b6104706108c9565b61047a91906115df565b905090565b60606003805461048e906115f2565b80601f01602080910402602001604051908101604052809291908181526020018280546104ba906115f2565b80156105055780601f106104dc57610100808354040283529160200191610505565b820191905f5260205f20905b8154815290600101906020018083116104e857829003601f168201915b5050505050905090565b5f61051a825f610979565b92915050565b5f3361052d8185856109b2565b5060019392505050565b5f61051a8260016109c4565b5f336105508582856109f4565b61055b858585610ac2565b60019150505b9392505050565b5f61047a60067f0000000000000000000000000000000000000000000000000000000000000000611643565b5f7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff6105c4565b60405180910390fd5b5f6105ce85610847565b90506105dc33858784610b6b565b949350505050565b5f7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff5f61061085610726565b90506105dc33858388610b6b565b60606004805461048e906115f2565b805f03610666576040517f63c6843b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b8161066f610885565b610679919061165c565b60055542600681905561068d90829061165c565b600781905560405133917fcd909ec339185c4598a4096e174308fbdf136d117f230960f873a2f2e81f63af916106cb91868252602082015260400190565b60405180910390a261071573ffffffffffffffffffffffffffffffffffffffff7f000000000000000000000000000000000000000000000000000000000000000016333085610bf5565b5050565b5f3361052d818585610ac2565b5f61051a826001610979565b5f5f61073d83610852565b90508085111561079f576040517ffe9cceec00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8416600482015260248101869052604481018290526064016105bb565b5f6107a986610537565b90506107b83386868985610c51565b95945050505050565b5f5f6107cc8361085b565b90508085111561082e576040517fb94abeec00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8416600482015260248101869052604481018290526064016105bb565b5f6108388661050f565b90506107b8338686848a610c51565b5f61051a825f6109c4565b5f61051a610213835b73ffffffffffffffffffffffffffffffffffffffff81165f9081526020819052604081205461051a565b5f600754421061089457505f90565b6006546007546108a491906115df565b426007546108b291906115df565b6005546108bf919061166f565b61047a91906116b3565b5f7f00000000000000000000000000000000000000000000000000000000000000006040517f70a0823100000000000000000000000000000000000000000000000000000000815230600482015273ffffffffffffffffffffffffffffffffffffffff91909116906370a0823190602401602060405180830381865afa158015610955573d5f5f3e3d5ffd5b505050506040513d601f19601f8201168201806040525081019061047a91906116c6565b5f61056161098561045f565b61099090600161165c565b61099c6006600a6117fe565b6002546109a9919061165c565b85919085610d31565b6109bf8383836001610d73565b505050565b5f6105616109d46006600a6117fe565b6002546109e1919061165c565b6109e961045f565b6109a990600161165c565b73ffffffffffffffffffffffffffffffffffffffff8381165f908152600160209081526040808320938616835292905220547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff811015610abc5781811015610aae576040517ffb8f41b200000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8416600482015260248101829052604481018390526064016105bb565b610abc84848484035f610d73565b50505050565b73ffffffffffffffffffffffffffffffffffffffff8316610b11576040517f96c6fd1e0000000000000000000000000000000000000000000000000000000081525f60048201526024016105bb565b73ffffffffffffffffffffffffffffffffffffffff8216610b60576040517fec442f050000000000000000000000000000000000000000000000000000000081525f60048201526024016105bb565b6109bf838383610eaa565b610b758483611051565b610b7f838261107d565b8273ffffffffffffffffffffffffffffffffffffffff168473ffffffffffffffffffffffffffffffffffffffff167fdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d78484604051610be7929190918252602082015260400190565b60405180910390a350505050565b610c038484848460016110d7565b610abc576040517f5274afe700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff851660048201526024016105bb565b8273ffffffffffffffffffffffffffffffffffffffff168573ffffffffffffffffffffffffffffffffffffffff1614610c8f57610c8f8386836109f4565b610c99838261116a565b610ca384836111c4565b8273ffffffffffffffffffffffffffffffffffffffff168473ffffffffffffffffffffffffffffffffffffffff168673ffffffffffffffffffffffffffffffffffffffff167ffbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db8585604051610d22929190918252602082015260400190565b60405180910390a45050505050565b5f610d5e610d3e836111ef565b8015610d5957505f8480610d5457610d54611686565b868809115b151590565b610d6986868661121b565b6107b8919061165c565b73ffffffffffffffffffffffffffffffffffffffff8416610dc2576040517fe602df050000000000000000000000000000000000000000000000000000000081525f60048201526024016105bb565b73ffffffffffffffffffffffffffffffffffffffff8316610e11576040517f94280d620000000000000000000000000000000000000000000000000000000081525f60048201526024016105bb565b73ffffffffffffffffffffffffffffffffffffffff8085165f9081526001602090815260408083209387168352929052208290558015610abc578273ffffffffffffffffffffffffffffffffffffffff168473ffffffffffffffffffffffffffffffffffffffff167f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92584604051610be791815260200190565b73ffffffffffffffffffffffffffffffffffffffff8316610ee1578060025f828254610ed6919061165c565b90915550610f919050565b73ffffffffffffffffffffffffffffffffffffffff83165f9081526020819052604090205481811015610f66576040517fe450d38c00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8516600482015260248101829052604481018390526064016105bb565b73ffffffffffffffffffffffffffffffffffffffff84165f9081526020819052604090209082900390555b73ffffffffffffffffffffffffffffffffffffffff8216610fba57600280548290039055610fe5565b73ffffffffffffffffffffffffffffffffffffffff82165f9081526020819052604090208054820190555b8173ffffffffffffffffffffffffffffffffffffffff168373ffffffffffffffffffffffffffffffffffffffff167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef8360405161104491815260200190565b60405180910390a3505050565b6107157f0000000000000000000000000000000000000000000000000000000000000000833084610bf5565b73ffffffffffffffffffffffffffffffffffffffff82166110cc576040517fec442f050000000000000000000000000000000000000000000000000000000081525f60048201526024016105bb565b6107155f8383610eaa565b6040517f23b872dd000000000000000000000000000000000000000000000000000000005f81815273ffffffffffffffffffffffffffffffffffffffff8781166004528616602452604485905291602083606481808c5af1925060015f5114831661115957838315161561114d573d5f823e3d81fd5b5f883b113d1516831692505b604052505f60605295945050505050565b73ffffffffffffffffffffffffffffffffffffffff82166111b9576040517f96c6fd1e0000000000000000000000000000000000000000000000000000000081525f60048201526024016105bb565b610715825f83610eaa565b6107157f000000000000000000000000000000000000000000000000000000000000000083836112cb565b5f60028260038111156112045761120461180c565b61120e9190611839565b60ff166001149050919050565b5f5f5f6112288686611326565b91509150815f0361124c5783818161124257611242611686565b0492505050610561565b818411611263576112636003851502601118611361565b5f848688095f868103871696879004966002600389028118808a02820302808a02820302808a02820302808a02820302808a02820302808a02909103029181900381900460010185841190960395909502919093039390930492909217029150509392505050565b6112d88383836001611372565b6109bf576040517f5274afe700000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff841660048201526024016105bb565b5f807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff83850993909202808410938190039390930393915050565b634e487b715f52806020526024601cfd5b6040517fa9059cbb000000000000000000000000000000000000000000000000000000005f81815273ffffffffffffffffffffffffffffffffffffffff8616600452602485905291602083604481808b5af1925060015f511483166113ee5783831516156113e2573d5f823e3d81fd5b5f873b113d1516831692505b60405250949350505050565b602081525f82518060208401528060208501604085015e5f6040828501015260407fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011684010191505092915050565b5f6020828403121561145d575f5ffd5b5035919050565b803573ffffffffffffffffffffffffffffffffffffffff81168114611487575f5ffd5b919050565b5f5f6040838503121561149d575f5ffd5b6114a683611464565b946020939093013593505050565b5f5f5f606084860312156114c6575f5ffd5b6114cf84611464565b92506114dd60208501611464565b929592945050506040919091013590565b5f602082840312156114fe575f5ffd5b61056182611464565b5f5f60408385031215611518575f5ffd5b8235915061152860208401611464565b90509250929050565b5f5f60408385031215611542575f5ffd5b50508035926020909101359150565b5f5f5f60608486031215611563575f5ffd5b8335925061157360208501611464565b915061158160408501611464565b90509250925092565b5f5f6040838503121561159b575f5ffd5b6115a483611464565b915061152860208401611464565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b8181038181111561051a5761051a6115b2565b600181811c9082168061160657607f821691505b60208210810361163d577f4e487b71000000000000000000000000000000000000000000000000000000005f52602260045260245ffd5b50919050565b60ff818116838216019081111561051a5761051a6115b2565b8082018082111561051a5761051a6115b2565b808202811582820484141761051a5761051a6115b2565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52601260045260245ffd5b5f826116c1576116c1611686565b500490565b5f602082840312156116d6575f5ffd5b5051919050565b6001815b6001841115611718578085048111156116fc576116fc6115b2565b600184161561170a57908102905b60019390931c9280026116e1565b935093915050565b5f8261172e5750600161051a565b8161173a57505f61051a565b8160018114611750576002811461175a57611776565b600191505061051a565b60ff84111561176b5761176b6115b2565b50506001821b61051a565b5060208310610133831016604e8410600b8410161715611799575081810a61051a565b6117c47fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff84846116dd565b807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff048211156117f6576117f66115b2565b029392505050565b5f61056160ff841683611720565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd5b5f60ff83168061184b5761184b611686565b8060ff8416069150509291505056'
