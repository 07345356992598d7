// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title ERC-4626 vault of the development chains
/// @notice Its yield is real: whoever funds it hands over assets that are released to the
/// shareholders second by second, so that the price of a share rises and every share can be
/// redeemed at that price. Unreleased assets do not count as the vault's.
contract DevVault is ERC4626 {
    using SafeERC20 for IERC20;

    /// @notice Smallest units of the asset still to be released at `releaseStart`.
    uint256 public releaseAmount;
    /// @notice Unix seconds.
    uint256 public releaseStart;
    /// @notice Unix seconds.
    uint256 public releaseEnd;

    event Funded(address indexed from, uint256 assets, uint256 releaseEnd);

    error NoDuration();

    constructor(
        IERC20 asset_,
        string memory name_,
        string memory symbol_
    ) ERC20(name_, symbol_) ERC4626(asset_) {}

    /// @notice Adds yield; what an earlier funding has not released yet joins the new schedule.
    /// @param duration seconds over which all of it is released
    function fund(uint256 assets, uint256 duration) external {
        require(duration != 0, NoDuration());
        releaseAmount = unreleased() + assets;
        releaseStart = block.timestamp;
        releaseEnd = block.timestamp + duration;
        emit Funded(msg.sender, assets, releaseEnd);
        IERC20(asset()).safeTransferFrom(msg.sender, address(this), assets);
    }

    function unreleased() public view returns (uint256) {
        if (block.timestamp >= releaseEnd) return 0;
        return (releaseAmount * (releaseEnd - block.timestamp)) / (releaseEnd - releaseStart);
    }

    function totalAssets() public view override returns (uint256) {
        return super.totalAssets() - unreleased();
    }

    /// @dev Virtual shares against inflation attacks (OpenZeppelin, ERC4626).
    function _decimalsOffset() internal pure override returns (uint8) {
        return 6;
    }
}
