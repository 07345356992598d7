// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @notice A lending market that keeps deposits in books of its own, without a token, with functions
/// of Morpho Blue (`setAuthorization`) and of Compound's Comet (`allow`, `withdrawFrom`).
contract BookMarket {
    mapping(address => mapping(address => uint256)) public depositOf;
    mapping(address => mapping(address => bool)) public isAuthorized;

    event Supply(address indexed caller, address indexed onBehalf, address asset, uint256 amount);
    event Withdraw(address indexed src, address indexed to, address asset, uint256 amount);
    event TransferCollateral(
        address indexed from,
        address indexed to,
        address indexed asset,
        uint256 amount
    );
    event SetAuthorization(address indexed authorizer, address indexed authorized, bool isAuthorized);

    function supply(address asset, uint256 amount, address onBehalf) external {
        depositOf[onBehalf][asset] += amount;
        emit Supply(msg.sender, onBehalf, asset, amount);
        IERC20(asset).transferFrom(msg.sender, address(this), amount);
    }

    function withdraw(address asset, uint256 amount, address onBehalf, address receiver) external {
        _withdraw(onBehalf, receiver, asset, amount);
    }

    function withdrawFrom(address src, address to, address asset, uint256 amount) external {
        _withdraw(src, to, asset, amount);
    }

    function transferAsset(address dst, address asset, uint256 amount) external {
        depositOf[msg.sender][asset] -= amount;
        depositOf[dst][asset] += amount;
        emit TransferCollateral(msg.sender, dst, asset, amount);
    }

    function setAuthorization(address authorized, bool newIsAuthorized) external {
        isAuthorized[msg.sender][authorized] = newIsAuthorized;
        emit SetAuthorization(msg.sender, authorized, newIsAuthorized);
    }

    /// @dev Comet logs nothing here.
    function allow(address manager, bool on) external {
        isAuthorized[msg.sender][manager] = on;
    }

    function _withdraw(address src, address to, address asset, uint256 amount) private {
        require(msg.sender == src || isAuthorized[src][msg.sender], "unauthorized");
        depositOf[src][asset] -= amount;
        emit Withdraw(src, to, asset, amount);
        IERC20(asset).transfer(to, amount);
    }
}
