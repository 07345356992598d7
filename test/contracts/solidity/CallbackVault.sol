// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

import {Callback} from "./Callback.sol";

/// @notice Calls a stranger before it takes a deposit.
contract CallbackVault is ERC4626, Callback {
    constructor(IERC20 asset_) ERC20("Callback Vault", "CBV") ERC4626(asset_) {}

    function _deposit(
        address caller,
        address receiver,
        uint256 assets,
        uint256 shares
    ) internal override {
        _callBack();
        super._deposit(caller, receiver, assets, shares);
    }
}
